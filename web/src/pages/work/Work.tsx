import { Page } from "../../shell/Page";

export default function Work() {
  return <Page title="Work">{null}</Page>;
}
