/** The limit of logout tokens, which anybody can send. Source: docs/decisions/0276-single-sign-on.md. */
import test from 'ava';
import { systemIds } from '#runtime/model/ids.js';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import { SignOn } from '../../../http/core/sign-on/sign-on.ts';
import { providerRoutes } from '../../../http/portal/accounts/provider-pages.ts';
import { memoryUsedAnswers } from '../core/used-answers.ts';
import { recorder } from '../harness.ts';

test('a client sends at most 600 logout tokens a minute, and no other client is concerned', async (t) => {
  const clock = new SimulatedClock();
  const signOn = new SignOn(
    {
      path: '/sign-in',
      cookies: 'c',
      providers: [
        {
          name: 'company',
          organization: 'Acme',
          createUsers: false,
          domains: [],
          roles: [],
          protocol: {
            kind: 'Saml' as const,
            name: 'company',
            metadataFile: '',
            entityId: '',
            groupsClaim: '',
            allowUnsolicited: false,
          },
        },
      ],
    },
    Buffer.alloc(32),
    { clock, ids: systemIds, log: recorder([]), used: await memoryUsedAnswers(clock) },
  );
  const given = { signOn, publicUrl: () => 'http://localhost', localSignIn: true };
  const never = { signIn: t.fail as never, end: t.fail as never };
  const route = providerRoutes(given, never, clock, undefined).find(({ path }) => path.endsWith('/logout'));
  const send = async (address: string): Promise<string> => {
    const request = { params: { name: 'company' }, body: { logout_token: 'x' }, caller: { address } };
    const error = await Promise.resolve()
      .then(() => route?.handle(request as never))
      .catch((thrown: unknown) => thrown);
    return String((error as { readonly code?: string }).code);
  };
  for (let count = 0; count < 600; count += 1) t.is(await send('192.0.2.1'), 'BadRequest');
  t.is(await send('192.0.2.1'), 'rate-limited');
  t.is(await send('192.0.2.2'), 'BadRequest');
  clock.advance(60_001);
  t.is(await send('192.0.2.1'), 'BadRequest');
});
