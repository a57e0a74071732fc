import { useResource } from "../../api/resource";
import { type TaskPage, touchesTask, touchesWork } from "../../api/types";

export function useTask(id: string) {
  const mine = touchesTask(id);
  return useResource<TaskPage>(`/api/work/tasks/${encodeURIComponent(id)}`, { on: (event) => mine(event) || touchesWork(event) });
}
