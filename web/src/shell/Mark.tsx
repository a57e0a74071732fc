export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 20 20" aria-hidden="true">
      <rect width="20" height="20" rx="5" fill="var(--n12)" />
      <path d="M13.8 6.6A4.7 4.7 0 1 0 13.8 13.4" fill="none" stroke="var(--n1)" strokeWidth="2" />
      <circle cx="14" cy="10" r="1.6" fill="var(--lake8)" />
    </svg>
  );
}
