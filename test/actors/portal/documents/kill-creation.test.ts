import test from 'ava';
import { Service, temporaryRoot } from '../../../service/service.ts';
import { Client, goesOn, SETTINGS } from './killed-portal.ts';

test.serial(
  'a kill during the creation of several documents leaves complete ones, and the call can be repeated',
  async (t) => {
    const root = await temporaryRoot(t);
    const first = await Service.start(t, { root, settings: SETTINGS, faults: 'portal.create.some=kill:1' });
    t.is(await new Client(first).create(3), undefined);
    t.is(await first.ended, 'SIGKILL');
    const second = await Service.start(t, { root, settings: SETTINGS, faults: 'portal.create.all=kill:1' });
    t.is(await new Client(second).create(2), undefined);
    t.is(await second.ended, 'SIGKILL');
    const third = await Service.start(t, { root, settings: SETTINGS });
    const client = new Client(third);
    const page = await client.call<{ items: { id: string }[]; totalCount: number }>('GET', '/api/documents');
    t.is(page?.totalCount, 2 + 2);
    const made = await client.create(1);
    t.is(made?.length, 1);
    const ids = [...(page?.items ?? []).map(({ id }) => id).slice(0, 1), ...(made ?? [])];
    await third.kill();
    await goesOn(t, root, ids);
  },
);
