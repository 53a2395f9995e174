/** `/account/links/{id}`: copies the address. */
import { CopyAddress, type CopyProps } from '../../../pages/portal/sender/copy-address.tsx';
import { requireElement } from '../../dom.ts';
import { hydrateIslands } from '../../islands.tsx';
import { pageData } from '../page-data.ts';
import { note } from '../sender/notes.ts';

const { words } = pageData<{ readonly words: { readonly copied: string; readonly selected: string } }>();

/** Over plain HTTP browsers let no script copy. */
async function copy(url: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(url);
    note(words.copied);
  } catch {
    requireElement('#address', HTMLInputElement).focus();
    note(words.selected);
  }
}

hydrateIslands({ copy: (props: CopyProps) => <CopyAddress {...props} copy={(url) => void copy(url)} /> });
