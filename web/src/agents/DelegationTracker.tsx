import type { Resource } from "../api/resource";
import { Icon } from "../parts/Icon";
import { Empty, Loaded } from "../parts/States";
import { useExecution } from "./agents";
import { Explained } from "./ScoreView";
import type { Agent, Delegation } from "../api/types";
import { TextButton } from "../parts/Button";
import { At } from "../format";
import "./tracker.css";

interface Props {
  delegations: Resource<{ delegations: Delegation[]; total: number }>;
  agents: readonly Agent[];
  /** The cursor of the one that stands open. */
  open: string | null;
  onOpen: (cursor: string | null) => void;
}

/** Where messages went, newest first; each opens to its reasons. */
export function DelegationTracker({ delegations, agents, open, onOpen }: Props) {
  return (
    <Loaded of={delegations}>
      {({ delegations: list, total }) =>
        list.length === 0 ? (
          <Empty command="cleo agents execute 'Explain the Second War in Warcraft.'">No delegations yet. Run a message to see why it goes where it goes.</Empty>
        ) : (
          <>
            <ul className="tracker" aria-label="Delegations">
              {list.map((one) => (
                <Row key={one.cursor} one={one} agents={agents} isOpen={open === String(one.cursor)} onOpen={onOpen} />
              ))}
            </ul>
            {open !== null && !list.some((one) => String(one.cursor) === open) && (
              <p className="small muted padded" role="status">
                {`Delegation ${open} is not among the last ${list.length}. `}
                <TextButton onClick={() => onOpen(null)}>Close it</TextButton>
              </p>
            )}
            {total > list.length && <p className="small muted padded">{`The last ${list.length} of ${total}. All of them: cleo runs list`}</p>}
          </>
        )
      }
    </Loaded>
  );
}

function Row({ one, agents, isOpen, onOpen }: { one: Delegation; agents: readonly Agent[]; isOpen: boolean; onOpen: Props["onOpen"] }) {
  const asked = / was requested; its score is \d+$/.test(one.reason);
  const to = agents.find((agent) => agent.id === one.to)?.name ?? one.to;
  return (
    <li className={isOpen ? "open" : ""}>
      <button type="button" className="tracker-row" aria-expanded={isOpen} onClick={() => onOpen(isOpen ? null : String(one.cursor))}>
        <At at={one.timestamp} />
        <span className="ell">
          <span className="muted desk-only">{one.from} → </span>
          <span className="strong">{to}</span>
        </span>
        <span className="mono right">{asked ? "asked" : one.score}</span>
        <span className="muted ell">{one.query}</span>
        <Icon name={isOpen ? "down" : "right"} />
      </button>
      {isOpen && <Reasons one={one} agents={agents} asked={asked} />}
    </li>
  );
}

function Reasons({ one, agents, asked }: { one: Delegation; agents: readonly Agent[]; asked: boolean }) {
  const resource = useExecution(one.executionId);
  return (
    <div className="tracker-reasons">
      <p className="small">{`${one.reason}.`}</p>
      <Loaded of={resource} rows={3}>
        {({ execution }) => <Explained delegation={one} message={execution.input} requested={asked ? one.to : undefined} agents={agents} />}
      </Loaded>
    </div>
  );
}
