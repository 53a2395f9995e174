/** Files that participants upload before they sign. Source: docs/fields.md. */
import test from 'ava';
import { flowRoom, refusedAs, signer } from '../documents/flow-harness.ts';

const FIELDS = [{ name: 'id', type: 'Attachment' }] as const;
const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex');

test('a participant uploads at most forty files for an action', async (t) => {
  const room = await flowRoom(t);
  const id = await room.create([signer('Ana', 1, { fields: FIELDS })]);
  const ana = await room.ticket(id, 'ana@example.org');
  if (ana.by !== 'ticket') throw new TypeError('The room gives tickets.');
  const attach = async () => {
    const sink = await room.portal.uploads.open();
    await sink.write(PNG);
    return room.portal.signing.acceptFieldUpload(ana, 'id', sink, { name: 'me.png', header: PNG });
  };
  for (let count = 0; count < 40; count += 1) t.is((await attach()).contentType, 'image/png');
  await refusedAs(t, 'LimitExceeded', room.portal.signing.checkFieldUpload(ana, 'id'));
  await refusedAs(t, 'LimitExceeded', attach());

  const again = await room.create([signer('Ana', 1, { fields: FIELDS })]);
  const other = await room.ticket(again, 'ana@example.org');
  if (other.by !== 'ticket') throw new TypeError('The room gives tickets.');
  await t.notThrowsAsync(room.portal.signing.checkFieldUpload(other, 'id'), 'another document');
});
