/** `/certificates`: certificates that profiles sign with, and keys of applications. */
import type { BatchOperations, PortalKeys, Readiness } from '../../../../clients/typescript/batch.d.ts';
import { type CertificateData, CertificatesView } from '../../../pages/batch/certificates.tsx';
import { currentTime } from '../../dom.ts';
import { getJson, getServed, requestAny } from '../api.ts';
import { CachedAnswer } from '../cached-answer.ts';
import { startPage } from '../live-page.tsx';

/** Reads many organizations. */
const keys = new CachedAnswer<PortalKeys | undefined>(currentTime);

async function load(): Promise<CertificateData> {
  const [{ profiles }, { checks }] = await Promise.all([
    getJson<BatchOperations['GET /api/profiles']['answer']>('/api/profiles'),
    requestAny<Readiness>('/api/ready'),
  ]);
  const readKeys = () => getServed<PortalKeys>('/api/portal/keys');
  return { profiles, checks, keys: await keys.get('', readKeys) };
}

startPage<CertificateData>({ load, view: (data) => <CertificatesView data={data} /> });
