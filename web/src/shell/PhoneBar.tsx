import { Link } from "wouter";
import { usePlace } from "../router/location";
import { Icon, type IconName } from "../parts/Icon";

const BAR: { href: string; label: string; icon: IconName; at: (path: string) => boolean }[] = [
  { href: "/work", label: "Work", icon: "work", at: (path) => path.startsWith("/work") },
  { href: "/runs", label: "Runs", icon: "runs", at: (path) => path.startsWith("/runs") },
  { href: "/agents", label: "Agents", icon: "architecture", at: (path) => path.startsWith("/agents") && !path.startsWith("/agents/chat") },
  { href: "/agents/chat", label: "Chat", icon: "chat", at: (path) => path.startsWith("/agents/chat") },
  { href: "/more", label: "More", icon: "menu", at: (path) => path === "/more" || path === "/" },
];

export function PhoneBar() {
  const { path } = usePlace();
  return (
    <nav className="phone-bar glass" aria-label="Main, phone">
      {BAR.map(({ href, label, icon, at }) => (
        <Link key={href} href={href} {...(at(path) ? { "aria-current": "page" as const } : {})}>
          <Icon name={icon} />
          {label}
        </Link>
      ))}
    </nav>
  );
}
