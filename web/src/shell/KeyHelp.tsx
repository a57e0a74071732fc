import { Dialog } from "../parts/Dialog";
import { keysNow, spelled } from "./keys";
import { choose, useSettings } from "./settings";

/** The keys that hold on the page under it. */
export default function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose} wide>
      <div className="key-help">
        {keysNow()
          .reverse()
          .map(({ group, bindings }) => (
            <section key={group}>
              <h3 className="caption">{group}</h3>
              <dl>
                {bindings.map(({ keys, does }) => (
                  <div key={keys} className="row">
                    <dt className="row">
                      {spelled(keys).map((key, i) => (
                        <kbd key={i}>{key}</kbd>
                      ))}
                    </dt>
                    <dd>{does}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
      </div>
      <SingleKeys />
    </Dialog>
  );
}

export function SingleKeys() {
  const single = useSettings((settings) => settings.singleKeys);
  return (
    <label className="check">
      <input type="checkbox" checked={single} onChange={(event) => choose({ singleKeys: event.target.checked })} />
      Single keys work when nothing is being typed
    </label>
  );
}
