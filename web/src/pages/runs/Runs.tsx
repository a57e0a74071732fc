import { Page } from "../../shell/Page";

export default function Runs() {
  return <Page title="Runs">{null}</Page>;
}
