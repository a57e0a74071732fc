import { Page } from "../../shell/Page";

export default function Ask() {
  return <Page title="Ask">{null}</Page>;
}
