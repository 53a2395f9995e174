/** `/here`: keeps nothing of the last person in the browser of a device, and begins anew when a person walks away. */
import type { Texts } from '../../../../contracts/texts/texts.ts';
import { reloadWhenRestored } from '../../dom.ts';
import { watchIdle } from '../../idle.ts';
import { pageData } from '../page-data.ts';

reloadWhenRestored();
for (const storage of [() => sessionStorage, () => localStorage])
  try {
    storage().clear();
  } catch {
    // A browser that forbids storage has kept nothing.
  }
// Also at once: a form that was refused has what the person before it entered.
watchIdle(pageData<Texts['pages']['here']['script']>());
