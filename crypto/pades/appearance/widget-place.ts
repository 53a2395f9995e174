import type { Page } from '../../pdf/index.ts';

/** Entries for a widget and the page it is on. */
export interface WidgetPlace {
  /** Page whose /Annots must get the widget; undefined when a page lists it already. */
  readonly page: Page | undefined;
  /** Keys and values, as text, for the widget's dictionary. */
  readonly entries: readonly Entry[];
  /** Keys and values for the field, when that is a separate dictionary. */
  readonly fieldEntries?: readonly Entry[];
}

export type Entry = readonly [key: string, value: string];
