// What the shell asks of a view.

import type { Action } from "./keys";
import type { Row } from "./types";

export interface View {
  readonly element: HTMLElement;
  readonly title: string;
  /** Whether arrows walk through rows here rather than scroll. */
  readonly hasRows?: boolean;
  /** Does what a key or button asks for; false if that means nothing here. */
  perform(action: Action): boolean;
  /** Cases that were decided, here or in another window. */
  changed?(rows: Row[]): void;
  leave?(): void;
}
