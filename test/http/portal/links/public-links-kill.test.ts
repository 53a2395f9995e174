/** A visit to a link for anybody when the process is killed: its document is made once, without another call of the visitor. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { mailedCode } from '../../../actors/portal/mails/mailed-code.ts';
import { startProgram } from '../../../actors/portal/service.ts';
import { casesOf } from '../../../project/rounds.ts';
import { temporaryRoot } from '../../../service/service.ts';

const LINKS = '/api/public-links';

// The person is created by the first step and has the visit by the second; the link is created by its first one, and has the code by the second.
for (const point of casesOf(
  ['step.committed.before-reply/document=kill:1'],
  ['step.committed.before-reply/link-visitor=kill:2', 'step.committed.before-reply/public-link=kill:3'],
))
  test.serial(`a kill at ${point} loses no visit and makes no document twice`, async (t) => {
    const root = await temporaryRoot(t);
    const first = await startProgram(t, { root, faults: point });
    const { id: upload, name, contentType } = await first.acme.upload();
    const { id: templateId } = await first.acme.post<{ id: string }>('/api/templates', {
      name: 'Waiver',
      document: {
        files: [{ id: upload, displayName: 'Waiver', name, contentType }],
        flowActions: [{ title: 'Guest', allowElectronicSignature: true }],
      },
    });
    const link = await first.acme.post<{ id: string; url: string }>(LINKS, {
      name: 'Waiver',
      templateId,
      role: 'Guest',
      mostDocuments: 1,
    });
    const ticket = new URL(link.url).searchParams.get('ticket');
    const person = { ticket, name: 'Ana', email: 'ana@example.org' };
    t.is((await first.acme.send(`${LINKS}/code`, person)).status, 200);
    const code = await mailedCode(first.service, person.email);
    const visit = { ...person, visitId: randomUUID(), code };
    await t.throwsAsync(first.acme.send(`${LINKS}/documents`, visit));
    t.is(await first.service.ended, 'SIGKILL');

    const { acme, service } = await startProgram(t, { root });
    const documents = () => acme.get<{ totalCount: number }>('/api/documents');
    await service.until('the document', async () =>
      (await documents()).totalCount === 1 ? true : undefined,
    );
    const ids = [];
    for (let count = 0; count < 2; count += 1) {
      const answer = await acme.send(`${LINKS}/documents`, visit);
      t.is(answer.status, 200);
      ids.push(((await answer.json()) as { documentId: string }).documentId);
    }
    t.is(new Set(ids).size, 1);
    const form = new URLSearchParams({ visit: visit.visitId, name: visit.name, email: visit.email, code });
    const page = await fetch(`${acme.url}/link?ticket=${ticket}`, {
      method: 'POST',
      redirect: 'manual',
      body: form,
    });
    t.regex(page.headers.get('location') ?? '', /^\/document\/key\//, 'the page shows it, too');
    t.is((await documents()).totalCount, 1);
    t.like(await acme.get(`${LINKS}/${link.id}`), { documentCount: 1, status: 'Full' });
  });
