import { readdirSync, readFileSync } from 'node:fs';
import { RUNTIME_FAULT_POINTS } from '@sealwright/runtime/testing';
import test from 'ava';
import { PORTAL_UPLOAD_FAULTS } from '../../../actors/portal/uploads/upload-faults.ts';
import { ACTOR_FAULTS } from '../../../actors/shared/failures/batch-fault-points.ts';
import type { PORTAL_DOCUMENT_FAULTS } from '../../../actors/shared/failures/document-fault-points.ts';
import type { PORTAL_REQUEST_FAULTS } from '../../../actors/shared/failures/request-fault-points.ts';

/** Place where a whole list of points is walked: `Object.keys` of it, or a table the compiler holds against it. */
const WALKED = {
  'runtime/crash/kill-proof.ts': RUNTIME_FAULT_POINTS,
  'actors/portal/uploads/kill.test.ts': PORTAL_UPLOAD_FAULTS,
  'service/kill-points.test.ts': ACTOR_FAULTS,
};

/** Place where points are killed at one by one. */
const NAMED = {
  'portal.create.some': 'actors/portal/documents/kill-creation.test.ts',
  'portal.create.all': 'actors/portal/documents/kill-creation.test.ts',
  'portal.sign.accepted': 'actors/portal/documents/kill.test.ts',
  'portal.seal.signed': 'actors/portal/documents/kill.test.ts',
  'portal.finish.signed': 'actors/portal/signing/kill-certificate.test.ts',
  'portal.provider.authorized': 'http/portal/kills/signing-provider.test.ts',
  'portal.provider.signed': 'http/portal/kills/signing-provider.test.ts',
  'portal.signature.kept': 'actors/portal/documents/kill.test.ts',
  'portal.conclusion.checked': 'actors/portal/documents/kill.test.ts',
  'portal.folder.some': 'http/portal/kills/folders.test.ts',
  'portal.erasure.beside': 'http/portal/kills/erasure.test.ts',
  'portal.retention.some': 'http/portal/kills/retention.test.ts',
  'portal.report.written': 'http/portal/kills/reports.test.ts',
  'portal.request.done': 'http/portal/program.test.ts',
} satisfies { [point in keyof typeof PORTAL_DOCUMENT_FAULTS | keyof typeof PORTAL_REQUEST_FAULTS]: string };

/** Names of points in the sources of the program. */
function declaredInSources(): readonly string[] {
  const points: string[] = [];
  for (const folder of ['runtime', 'actors', 'http', 'commands']) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue;
      const source = readFileSync(`${folder}/${name}`, 'utf8');
      const [, list = ''] = /= declareFaultPoints\(\{(.*?)\n\}\)/s.exec(source) ?? [];
      for (const [, point = ''] of list.matchAll(/^ {2}'([\w.-]+)':/gm)) points.push(point);
    }
  }
  return points;
}

test('every fault point is killed at by a test', (t) => {
  const walked = Object.values(WALKED).flatMap((points) => Object.keys(points));
  t.deepEqual([...declaredInSources()].sort(), [...walked, ...Object.keys(NAMED)].sort());
  for (const [point, file] of Object.entries(NAMED)) {
    const source = readFileSync(`test/${file}`, 'utf8');
    t.true(source.includes(point) && source.includes('=kill:'), `${file} does not kill at ${point}`);
  }
  for (const file of Object.keys(WALKED)) {
    const source = readFileSync(`test/${file}`, 'utf8');
    t.regex(source, /Object\.keys\([A-Z_]+_FAULT(S|_POINTS)\)/, file);
    t.regex(source, /\}?=kill:/, file);
  }
});
