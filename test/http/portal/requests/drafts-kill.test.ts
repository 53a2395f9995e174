/** The documents of an abandoned attempt are canceled once, also when the process is killed. */
import test from 'ava';
import { SAMPLE, startProgram, until } from '../../../actors/portal/service.ts';
import { casesOf } from '../../../project/rounds.ts';
import { temporaryRoot } from '../../../service/service.ts';

const ANA = {
  user: { name: 'Ana', email: 'ana@example.org', identifier: 'no number' },
  allowElectronicSignature: true,
};
const REFUSING = { 'Portal:Identifiers': 'Cpf' };
/** A call that was cut off counts as in progress for 30 s: the clocks of later programs are beyond that. */
const LATER = {
  NODE_OPTIONS: `--import=${new URL('../../../postgres/shifted-clock.js', import.meta.url).pathname}`,
  SEALWRIGHT_TEST_CLOCK_MS: '31000',
};
const DRAFTS = '/api/document-drafts';

for (const point of casesOf(
  ['effect.done.before-outcome/cancelDraftDocuments'],
  ['effect.leased.before-run/cancelDraftDocuments'],
))
  test.serial(
    `a kill at ${point} cancels the documents of the abandoned attempt, and sends the draft again completely`,
    async (t) => {
      const root = await temporaryRoot(t);
      const first = await startProgram(t, { root, faults: 'portal.create.some=kill:1' });
      const { id: upload } = await first.acme.upload();
      const files = ['One', 'Two'].map((displayName) => ({
        id: upload,
        displayName,
        name: SAMPLE.name,
        contentType: SAMPLE.type,
      }));
      const { id } = await first.acme.post<{ id: string }>(DRAFTS, {
        name: 'Draft',
        document: { files, flowActions: [ANA] },
      });
      await t.throwsAsync(first.acme.send(`${DRAFTS}/${id}/send`, {}));
      t.is(await first.service.ended, 'SIGKILL');

      // With another rule for identifiers, each repetition is refused.
      const second = await startProgram(t, {
        root,
        faults: `${point}=kill:1`,
        settings: REFUSING,
        env: LATER,
      });
      // On PostgreSQL, whose clock counts, no refusal abandons the attempt before 30 s have passed.
      await until(() =>
        second.acme.send(`${DRAFTS}/${id}/send`, {}).then(
          () => undefined,
          () => true,
        ),
      );
      t.is(await second.service.ended, 'SIGKILL');

      const { acme } = await startProgram(t, { root, env: LATER });
      await until(async () => {
        const { totalCount } = await acme.get<{ totalCount: number }>('/api/documents?Status=Canceled');
        return totalCount === 1 ? true : undefined;
      });
      // Whether the draft has heard of it or not, and whether a call was cut off by the kill or not: it can be sent.
      const sent = await acme.post<unknown[]>(`${DRAFTS}/${id}/send`, {});
      t.is(sent.length, 2);
      t.is((await acme.get<{ totalCount: number }>('/api/documents?Status=Pending')).totalCount, 2);
      const { items } = await acme.get<{ items: { id: string }[] }>('/api/documents?Status=Canceled');
      const history = await acme.get<{ items: { type: string }[] }>(
        `/api/documents/${items[0]?.id}/history?limit=100`,
      );
      t.is(history.items.filter(({ type }) => type === 'Canceled').length, 1);
    },
  );
