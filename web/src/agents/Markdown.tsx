import { memo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import "./message.css";

/** Longest text that is laid out, in characters, and how many characters of it may be marks. */
const LONGEST = 200_000;
const MOST_MARKS = 5_000;
/** A line that begins twelve quotes, lists and notes in each other. */
const DEEP = /^(?:[ \t]*(?:[>*+-]|\d{1,9}[.)]|\[\^[^\]\n]*\]:)){12}/m;

/** What an agent wrote, laid out; HTML in it is text. What would take long to read is shown as it is. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const isPlain = text.length > LONGEST || (text.match(/[*_~`[\]<]/g)?.length ?? 0) > MOST_MARKS || DEEP.test(text);
  return (
    <div className="markdown">
      {isPlain ? (
        <pre className="code" tabIndex={0}>
          <code>{text}</code>
        </pre>
      ) : (
        <ReactMarkdown remarkPlugins={PLUGINS} components={PARTS} urlTransform={safeHref}>
          {text}
        </ReactMarkdown>
      )}
    </div>
  );
});

/** Where a link may lead: web and mail addresses. */
export function safeHref(href: string): string | null {
  return /^(?:https?:\/\/|mailto:)[^\s<>"'`\\\p{Cc}]+$/iu.test(href) ? href : null;
}

const PLUGINS = [remarkGfm];

/** Pictures are words, and links lead out of the pages. The headings of a page are its own; those of a text are only strong. */
const PARTS: Components = {
  h1: Heading,
  h2: Heading,
  h3: Heading,
  h4: Heading,
  h5: Heading,
  h6: Heading,
  pre: ({ children }) => (
    <pre className="code" tabIndex={0}>
      {children}
    </pre>
  ),
  blockquote: ({ children }) => <blockquote className="quote">{children}</blockquote>,
  table: ({ children }) => (
    <div className="markdown-table" tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  th: ({ children }) => <th scope="col">{children}</th>,
  td: ({ children }) => <td>{children}</td>,
  img: ({ alt }) => (alt ? `(picture: ${alt})` : "(picture)"),
  input: ({ checked }) => (checked ? "[x]" : "[ ]"),
  a: ({ href, children }) =>
    href ? (
      <a className="link" href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      children
    ),
};

function Heading({ children }: { children?: React.ReactNode }) {
  return <p className="markdown-heading">{children}</p>;
}
