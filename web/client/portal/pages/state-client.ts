/** Shows the document where the link still opens it, and reports the state and the height of the page to the parent window. */
import type { StateData } from '../../../pages/portal/page-data.ts';
import { reloadWhenRestored } from '../../dom.ts';
import { showDocument } from '../document-view.ts';
import { pageData } from '../page-data.ts';
import { notifyParent, reportHeight } from '../parent-window.ts';

const { events, embedOrigins, shown } = pageData<StateData>();
for (const event of events) notifyParent(event, embedOrigins);
reportHeight(embedOrigins);
reloadWhenRestored();
// The page reports a failure itself.
if (shown !== undefined) void showDocument(shown).catch(() => undefined);
