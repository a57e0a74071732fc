import { useResource } from "../../api/resource";
import { Bytes, Digest } from "../../format";
import { Button } from "../../parts/Button";
import { copy } from "../../parts/copy";
import { Empty, Loaded } from "../../parts/States";

/** The very text that the agent got, also a repair's. */
export function SentPrompt({ run, task, attempt }: { run: string; task: string; attempt: number }) {
  const prompt = useResource<{ text: string; bytes: number; digest: string }>(`/api/runs/${encodeURIComponent(run)}/tasks/${encodeURIComponent(task)}/attempts/${attempt}/prompt`);
  if (prompt.failure?.status === 404) return <Empty>The prompt of this attempt was not kept.</Empty>;
  return (
    <Loaded of={prompt}>
      {(data) => (
        <div className="section">
          <h3>
            <Bytes n={data.bytes} /> <Digest value={data.digest} />
            <span className="aside">
              <Button small icon="copy" onClick={() => copy(data.text, "prompt")}>
                Copy
              </Button>
            </span>
          </h3>
          <pre className="code" tabIndex={0}>
            {data.text}
          </pre>
        </div>
      )}
    </Loaded>
  );
}
