/** Killed at the moments that hurt: nothing that was answered is lost, and nothing is signed twice. */
import test from 'ava';
import { Service, temporaryRoot } from '../../service/service.ts';
import { Client, goesOn, SETTINGS } from './killed-portal.ts';

for (const [point, pass] of [
  ['portal.sign.accepted', 1],
  ['portal.seal.signed', 1],
  ['portal.signature.kept', 2],
  ['portal.conclusion.checked', 1],
] as const) {
  test.serial(`a kill at ${point} loses no signature that was answered and makes none twice`, async (t) => {
    const root = await temporaryRoot(t);
    const service = await Service.start(t, { root, settings: SETTINGS, faults: `${point}=kill:${pass}` });
    const client = new Client(service);
    const ids = await client.create(1);
    if (ids === undefined) throw new Error('nothing was made');
    const [id = ''] = ids;
    for (let tries = 0; tries < 3; tries++) if (!(await client.sign(id).catch(() => false))) break;
    t.is(await service.ended, 'SIGKILL');
    await goesOn(t, root, ids);
  });
}
