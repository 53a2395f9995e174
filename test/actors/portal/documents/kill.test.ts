/** Killed at the moments that hurt: nothing that was answered is lost, and nothing is signed twice. */

import { systemClock } from '@sealwright/runtime';
import test from 'ava';
import { casesOf } from '../../../project/rounds.ts';
import { Service, temporaryRoot } from '../../../service/service.ts';
import { Client, goesOn, SETTINGS } from './killed-portal.ts';

const PLACE = { topLeftX: 10, topLeftY: 10, width: 50, height: 20, pageNumber: 1 };
/** The file is built again at each signature. */
const MARKED = { prePositionedMarks: [PLACE, { ...PLACE, topLeftY: 40 }] };

/** The attempt before the acceptance fails, so the signature is promised first and made by a stored effect. */
const PROMISED = 'a document whose signature is promised';

for (const [point, pass, more, what] of casesOf(
  [
    ['portal.sign.accepted', 1, {}, 'a document'],
    ['portal.seal.signed', 1, {}, 'a document'],
    ['portal.conclusion.checked', 1, {}, 'a document'],
    ['portal.signature.kept=throw:1,effect.done.before-outcome/applySignature', 1, {}, PROMISED],
    ['portal.signature.kept', 2, MARKED, 'a file that is built again'],
  ],
  [
    ['portal.signature.kept', 2, {}, 'a document'],
    ['portal.signature.kept=throw:1,portal.sign.accepted', 1, {}, PROMISED],
    ['portal.seal.signed/rebuilt', 1, MARKED, 'a file that is built again'],
  ],
)) {
  test.serial(`a kill at ${point} of ${what} loses no answered signature and makes none twice`, async (t) => {
    const root = await temporaryRoot(t);
    const service = await Service.start(t, { root, settings: SETTINGS, faults: `${point}=kill:${pass}` });
    const client = new Client(service);
    const ids = await client.create(1, more);
    if (ids === undefined) throw new Error('nothing was made');
    const [id = ''] = ids;
    let isAlive = true;
    const ended = service.ended.finally(() => {
      isAlive = false;
    });
    // The second participant is asked only after the first signature is stored.
    while (isAlive) await client.sign(id).catch(() => systemClock.sleep(20));
    t.is(await ended, 'SIGKILL');
    await goesOn(t, root, ids);
  });
}
