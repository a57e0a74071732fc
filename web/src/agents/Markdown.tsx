import { Fragment, memo, type ReactNode } from "react";

import { read, type Block, type Inline } from "./markdown";
import "./message.css";

/** What an agent wrote, laid out. Only text ever reaches the page. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return <div className="markdown">{read(text).map(block)}</div>;
});

function block(one: Block, at: number): ReactNode {
  switch (one.kind) {
    case "paragraph":
      return <p key={at}>{one.children.map(inline)}</p>;
    case "heading":
      // The headings of a page are its own; those of a text are only strong.
      return (
        <p key={at} className="markdown-heading">
          {one.children.map(inline)}
        </p>
      );
    case "code":
      return (
        <pre key={at} className="code" tabIndex={0}>
          <code>{one.text}</code>
        </pre>
      );
    case "quote":
      return (
        <blockquote key={at} className="quote">
          {one.children.map(block)}
        </blockquote>
      );
    case "list":
      return list(one, at);
    case "table":
      return table(one, at);
    case "rule":
      return <hr key={at} />;
  }
}

function list(one: Block & { kind: "list" }, at: number): ReactNode {
  const items = one.items.map((item, place) => <li key={place}>{entry(item)}</li>);
  return one.ordered ? (
    <ol key={at} start={one.start}>
      {items}
    </ol>
  ) : (
    <ul key={at}>{items}</ul>
  );
}

/** A line of a list without the space of a paragraph. */
function entry(item: Block[]): ReactNode {
  return item.map((one, at) =>
    one.kind === "paragraph" && at === 0 ? (
      <Fragment key={at}>{one.children.map(inline)}</Fragment>
    ) : (
      block(one, at)
    ),
  );
}

function table(one: Block & { kind: "table" }, at: number): ReactNode {
  return (
    <div key={at} className="markdown-table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {one.head.map((cell, place) => (
              <th key={place} scope="col">
                {cell.map(inline)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {one.rows.map((row, place) => (
            <tr key={place}>
              {row.map((cell, column) => (
                <td key={column}>{cell.map(inline)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(one: Inline, at: number): ReactNode {
  switch (one.kind) {
    case "text":
      return <Fragment key={at}>{one.text}</Fragment>;
    case "code":
      return <code key={at}>{one.text}</code>;
    case "strong":
      return <strong key={at}>{one.children.map(inline)}</strong>;
    case "em":
      return <em key={at}>{one.children.map(inline)}</em>;
    case "del":
      return <del key={at}>{one.children.map(inline)}</del>;
    case "link":
      return (
        <a key={at} className="link" href={one.href} target="_blank" rel="noopener noreferrer nofollow">
          {one.children.map(inline)}
        </a>
      );
    case "break":
      return <br key={at} />;
  }
}
