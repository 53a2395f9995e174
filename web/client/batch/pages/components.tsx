/** Brings the page of the components to life. */
import { Chips, DialogButton, Tabs, ToastButton } from '../../../components/interactive.tsx';
import { hydrateIslands } from '../../islands.tsx';
import { showCounts } from '../counts.ts';
import { startSearch } from '../search.tsx';

startSearch();
void showCounts(false);
hydrateIslands({ chips: Chips, dialog: DialogButton, tabs: Tabs, toast: ToastButton });
