import { useResource } from "../../api/resource";
import { touchesTask, touchesWork, type TaskPage } from "../../api/work";

export function useTask(id: string) {
  const mine = touchesTask(id);
  return useResource<TaskPage>(`/api/work/tasks/${encodeURIComponent(id)}`, { on: (event) => mine(event) || touchesWork(event) });
}
