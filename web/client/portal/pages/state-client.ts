/** Shows the document where the link still opens it, and reports the state and the height of the page to the parent window. */
import type { StateData } from '../../../pages/portal/page-data.ts';
import { reloadWhenRestored } from '../../dom.ts';
import { pageData } from '../page-data.ts';
import { notifyParent, reportHeight } from '../parent-window.ts';
import { startState } from '../state.ts';

const data = pageData<StateData>();
const { events, embedOrigins } = data;
for (const event of events) notifyParent(event, embedOrigins);
reportHeight(embedOrigins);
reloadWhenRestored();
startState(data);
