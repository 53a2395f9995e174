/** Participants who sign with certificates at the same time. */
import test from 'ava';
import { sharedProgram } from '../../../actors/portal/service.ts';
import { type Started, selfSigned, signatureValue, startSignature } from './certificate-client.ts';

interface Completed extends Partial<Started> {
  readonly success: boolean;
}

const PEOPLE = ['ana', 'bo', 'cy'];
const FLOW = PEOPLE.map((name) => ({ user: { name, email: `${name}@example.org` } }));

test('three certificate signatures started at once are each completed with their own value', async (t) => {
  const { acme } = await sharedProgram(t);
  const id = await acme.create(FLOW);
  const begun = [];
  for (const name of PEOPLE) {
    const own = selfSigned(name);
    begun.push({ own, ...(await startSignature(acme, id, `${name}@example.org`, own)) });
  }
  const tries: number[] = [];
  for (const { own, started, path } of begun) {
    let answer: Completed = started;
    for (let count = 1; ; count++) {
      const { token = '', toSign = '' } = answer;
      answer = await acme.post<Completed>(path, { token, signature: signatureValue(own, { toSign }) });
      if (answer.success) {
        t.deepEqual(Object.keys(answer), ['success', 'validationResults']);
        tries.push(count);
        break;
      }
      t.deepEqual(
        answer.validationResults?.errors.map(({ type }) => type),
        ['document.changed'],
      );
      t.regex(answer.toSignHash ?? '', /^[\w+/]{43}=$/);
      const used = await acme.send(path, { token, signature: signatureValue(own, { toSign }) });
      t.is(((await used.json()) as { code?: string }).code, 'InvalidTicket', 'the first token is used up');
    }
  }
  t.deepEqual(tries, [1, 2, 2]);
  const { signers } = await acme.get<{ signers: { validationResults: { isValid: boolean } }[] }>(
    `/api/documents/${id}/signatures-details`,
  );
  t.deepEqual(
    signers.map(({ validationResults }) => validationResults.isValid),
    [true, true, true],
  );
});

test('detached signatures need no second attempt', async (t) => {
  const { acme } = await sharedProgram(t);
  const text = { name: 'notes.txt', content: Buffer.from('Hello'), type: 'text/plain' };
  const id = await acme.create(FLOW, {}, text);
  const begun = [];
  for (const name of PEOPLE) {
    const own = selfSigned(name);
    begun.push({ own, ...(await startSignature(acme, id, `${name}@example.org`, own)) });
  }
  for (const { own, started, path } of begun)
    t.like(await acme.post(path, { token: started.token, signature: signatureValue(own, started) }), {
      success: true,
    });
});
