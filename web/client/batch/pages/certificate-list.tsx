/** `/certificates`: certificates that profiles sign with, and keys of applications. */
import type { BatchOperations, PortalKeys, Readiness } from '../../../../clients/typescript/batch.d.ts';
import { type CertificateData, CertificatesView } from '../../../pages/batch/certificates.tsx';
import { getJson, getServed, requestAny } from '../api.ts';
import { startPage } from '../live-page.tsx';
import { serverNow } from '../times.ts';

/** Refreshes between two reads of the keys, which reads many organizations. */
const KEYS_EVERY = 12;

let refreshes = 0;
let keys: PortalKeys | undefined;

async function load(): Promise<CertificateData> {
  const [{ profiles }, { checks }] = await Promise.all([
    getJson<BatchOperations['GET /api/profiles']['answer']>('/api/profiles'),
    requestAny<Readiness>('/api/ready'),
  ]);
  if (refreshes % KEYS_EVERY === 0) keys = await getServed<PortalKeys>('/api/portal/keys');
  refreshes += 1;
  return { profiles, checks, keys, now: serverNow() };
}

startPage<CertificateData>({ load, view: (data) => <CertificatesView data={data} /> });
