import { useResource } from "../../../api/resource";
import { touchesTask, type ManifestPart } from "../../../api/types";
import { Ago, Bytes, plural } from "../../../format";
import { Command, Code } from "../../../parts/Button";
import { Empty, Loaded, sentence } from "../../../parts/States";
import { StatusGlyph } from "../../../parts/StatusGlyph";
import { Lines, Section, Term } from "../../../parts/Facts";

/** The entry that the agent wrote, what cleo finds wrong with it, and the output file as text. */
export function ManifestTab({ id, spawned }: { id: string; spawned: boolean }) {
  const part = useResource<ManifestPart>(`/api/work/tasks/${encodeURIComponent(id)}/manifest`, { on: touchesTask(id) });
  if (!spawned && (part.failure?.status === 404 || part.data?.manifestId === null)) {
    return <Empty command={`cleo spawn ${id}`}>No entry is expected yet. The prompt names the entry and the file that the agent has to write.</Empty>;
  }
  return <Loaded of={part}>{(data) => <Shown part={data} id={id} />}</Loaded>;
}

function Shown({ part, id }: { part: ManifestPart; id: string }) {
  return (
    <>
      <div className="section">
        <h3>
          <StatusGlyph state={part.verdict === "pass" ? "done" : "failed"} />
          {part.verdict === "pass" ? "The entry and the file hold" : part.violations.length > 0 ? `${plural(part.violations.length, "fault")} found` : "Not there yet"}
        </h3>
        <Lines of={part.violations.map((one) => sentence(one.message))} look="bad text" />
        <dl className="facts">
          <Term name="Entry" mono={part.manifestId ?? "unknown"} />
          <Term name="Line">{part.line ?? "not in the manifest"}</Term>
          <Term name="File">
            <span className="mono">{part.outputFile ?? "unknown"}</span>
            {part.textBytes !== null && (
              <span className="muted">
                <Bytes n={part.textBytes} />
              </span>
            )}
          </Term>
          <Term name="Asked for">{part.spawnedAt && <Ago at={part.spawnedAt} />}</Term>
        </dl>
      </div>
      {part.entry && (
        <Section title="Entry">
          <Code>{JSON.stringify(part.entry, null, 2)}</Code>
        </Section>
      )}
      {part.text !== null && (
        <Section title="Output file">
          <Code>{part.text}</Code>
        </Section>
      )}
      <div className="section">
        <Command line={`cleo verify output ${id}`} />
      </div>
    </>
  );
}
