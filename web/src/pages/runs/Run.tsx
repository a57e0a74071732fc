import { Page } from "../../shell/Page";

export default function Run() {
  return <Page title="Run">{null}</Page>;
}
