import { Empty } from "../../parts/States";

export function NoTasks() {
  return <Empty command={'cleo add "First task"'}>No tasks yet. A task appears here as soon as it is added or a plan is imported.</Empty>;
}
