/** Data from the server for the scripts of a page. */
import { requireElement } from '../dom.ts';

/** Parses the block of JSON in the page. */
export function pageData<Data>(): Data {
  return JSON.parse(requireElement('#page-data').textContent ?? '') as Data;
}
