import { useId, useState } from "react";
import { Button } from "../parts/Button";
import { differing, LABELS, shownValue, type Draft, type Field } from "./draft";

interface Props {
  mine: Draft;
  theirs: Draft;
  onDone: (merged: Draft) => void;
}

/** Somebody saved the agent meanwhile: both versions of each field that differs, to choose from. */
export function Conflict({ mine, theirs, onDone }: Props) {
  const fields = differing(mine, theirs);
  const [kept, setKept] = useState<ReadonlySet<Field>>(new Set(fields));
  const choose = (field: Field, isMine: boolean) => {
    const now = new Set(kept);
    if (isMine) now.add(field);
    else now.delete(field);
    setKept(now);
  };
  const done = () => onDone(Object.fromEntries(Object.entries(theirs).map(([field, value]) => [field, kept.has(field as Field) ? mine[field as Field] : value])) as unknown as Draft);
  return (
    <div className="conflict" role="alert">
      <p className="section">Somebody saved this agent while you edited it. Choose for each field; nothing is lost before you save.</p>
      {fields.map((field) => (
        <Choice key={field} field={field} mine={shownValue(mine[field])} theirs={shownValue(theirs[field])} isMine={kept.has(field)} onChoose={(isMine) => choose(field, isMine)} />
      ))}
      <footer className="crud-foot">
        <Button look="primary" onClick={done}>
          Go on with these
        </Button>
      </footer>
    </div>
  );
}

function Choice(props: { field: Field; mine: string; theirs: string; isMine: boolean; onChoose: (isMine: boolean) => void }) {
  const name = useId();
  return (
    <fieldset className="section conflict-field">
      <legend className="strong">{LABELS[props.field]}</legend>
      <label className="check">
        <input type="radio" name={name} checked={props.isMine} onChange={() => props.onChoose(true)} />
        <span>
          <span className="muted">Yours: </span>
          {props.mine}
        </span>
      </label>
      <label className="check">
        <input type="radio" name={name} checked={!props.isMine} onChange={() => props.onChoose(false)} />
        <span>
          <span className="muted">Theirs: </span>
          {props.theirs}
        </span>
      </label>
    </fieldset>
  );
}
