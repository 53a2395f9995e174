import type { Page } from '../pdf/index.ts';

/** What a widget and the page it is on get. */
export interface WidgetPlace {
  /** The page that has to list the widget; undefined when one does already. */
  readonly page: Page | undefined;
  /** Keys and values, as text, that the widget's dictionary gets. */
  readonly entries: readonly Entry[];
  /** The same for the field, when that is another dictionary. */
  readonly fieldEntries?: readonly Entry[];
}

export type Entry = readonly [key: string, value: string];
