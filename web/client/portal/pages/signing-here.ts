/** Signing page at a device of others: begins anew when a person walks away. A script of its own, which others do not load. */
import type { SigningData } from '../../../pages/portal/page-data.ts';
import { watchIdle } from '../../idle.ts';
import { pageData } from '../page-data.ts';

const { here } = pageData<SigningData>();
if (here !== null) watchIdle(here);
