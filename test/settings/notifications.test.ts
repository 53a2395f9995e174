import test from 'ava';
import { accepted, faultyKeys, load } from './load.ts';

const secret = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const webhook = (index: number, url: string) => ({
  [`Notifications__Webhooks__${index}__Url`]: url,
  [`Notifications__Webhooks__${index}__Secret`]: secret(index),
});

test('webhooks for the ends of jobs are read with their events, all by default, and secrets are masked', (t) => {
  const sources = {
    env: { ...webhook(0, 'http://10.0.0.5/jobs'), ...webhook(1, 'https://hooks.example/in') },
    argv: ['--Notifications:Webhooks:1:Events:0=jobfailed'],
  };
  const { notifications, secrets } = accepted(sources);
  t.deepEqual(notifications.webhooks, [
    {
      url: 'http://10.0.0.5/jobs',
      secret: secret(0),
      previousSecret: undefined,
      events: ['JobCompleted', 'JobFailed', 'JobCanceled'],
    },
    { url: 'https://hooks.example/in', secret: secret(1), previousSecret: undefined, events: ['JobFailed'] },
  ]);
  t.true(secrets.includes(secret(0)));
  t.false(JSON.stringify(load(sources).resolved).includes(secret(0).slice(6)));
  t.deepEqual(accepted({}).notifications.webhooks, []);
});

test('webhooks without address or secret, with a weak secret, an unknown event or a duplicate address are refused', (t) => {
  const keys = (env: Readonly<Record<string, string>>) => faultyKeys({ env });
  const url = 'https://hooks.example/in';
  t.deepEqual(keys({ Notifications__Webhooks__0__Url: url }), ['Notifications:Webhooks:0:Secret']);
  t.deepEqual(keys({ Notifications__Webhooks__0__Secret: secret(1) }), ['Notifications:Webhooks:0:Url']);
  t.deepEqual(keys({ ...webhook(0, url), Notifications__Webhooks__0__Secret: 'whsec_c2hvcnQ=' }), [
    'Notifications:Webhooks:0:Secret',
  ]);
  t.deepEqual(keys({ ...webhook(0, url), Notifications__Webhooks__0__PreviousSecret: 'whsec_c2hvcnQ=' }), [
    'Notifications:Webhooks:0:PreviousSecret',
  ]);
  t.deepEqual(keys({ ...webhook(0, url), Notifications__Webhooks__0__Events__0: 'JobQueued' }), [
    'Notifications:Webhooks:0:Events:0',
  ]);
  t.deepEqual(keys({ ...webhook(0, url), Notifications__Webhooks__0__Events: '' }), [
    'Notifications:Webhooks:0:Events',
  ]);
  t.deepEqual(keys({ ...webhook(0, url), ...webhook(1, url) }), ['Notifications:Webhooks:1:Url']);
  const many = Object.assign({}, ...Array.from({ length: 11 }, (_, n) => webhook(n, `${url}/${n}`)));
  t.deepEqual(keys(many), ['Notifications:Webhooks']);
});
