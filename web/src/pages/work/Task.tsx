import { Page } from "../../shell/Page";

export default function Task() {
  return <Page title="Task">{null}</Page>;
}
