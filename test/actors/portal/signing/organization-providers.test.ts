/** Addresses that an organization may name for its signing providers. */
import test from 'ava';
import { mayBeCalled, shownTitle } from '../../../../actors/portal/signing/organization-providers.ts';

/** Address, and whether it may be called: from the network, and where private addresses are allowed. */
const ADDRESSES: readonly (readonly [address: string, isPublic: boolean, isAllowed: boolean])[] = [
  ['https://remote.example.org/csc/v2', true, true],
  ['https://remote.example.org:443/csc/v2', true, true],
  ['https://remote.example.org:8443/csc/v2', false, true],
  ['https://remote.example.org:22/csc/v2', false, true],
  ['http://remote.example.org/csc/v2', false, false],
  ['http://127.0.0.1:8080/csc/v2', false, true],
  ['http://localhost:8080/csc/v2', false, true],
  ['http://[::1]:8080/csc/v2', false, true],
  ['https://127.0.0.1/csc/v2', false, true],
  ['https://2130706433/csc/v2', false, true],
  ['https://0x7f.1/csc/v2', false, true],
  ['https://10.0.0.1/csc/v2', false, true],
  ['https://169.254.169.254/csc/v2', false, true],
  ['https://100.64.0.1/csc/v2', false, true],
  ['https://[::1]/csc/v2', false, true],
  ['https://[::ffff:10.0.0.1]/csc/v2', false, true],
  ['https://[64:ff9b::a00:1]/csc/v2', false, true],
  ['https://[fd00::1]/csc/v2', false, true],
  ['https://[fe80::1]/csc/v2', false, true],
  ['https://[2002:a00:1::]/csc/v2', false, true],
  ['https://8.8.8.8/csc/v2', true, true],
  ['https://a:b@remote.example.org/csc/v2', false, false],
  ['https://remote.example.org@10.0.0.1/csc/v2', false, false],
  ['https://remote.example.org/csc/v2?a=/v2', false, false],
  ['https://remote.example.org/csc/v2#/v2', false, false],
  ['ftp://remote.example.org/csc/v2', false, false],
  ['javascript:alert(1)//v2', false, false],
  ['file:///csc/v2', false, false],
  ['//remote.example.org/csc/v2', false, false],
  ['', false, false],
];

for (const [address, isPublic, isAllowed] of ADDRESSES)
  test(`a provider may be at "${address}": ${isPublic}; where private ones are allowed: ${isAllowed}`, (t) => {
    t.is(mayBeCalled(address, false), isPublic);
    t.is(mayBeCalled(address, true), isAllowed);
  });

test('the name of a provider of an organization is shown with the host to which persons go', (t) => {
  const provider = { title: 'Acme Trust', address: 'https://remote.example.org/csc/v2' };
  t.is(shownTitle({ ...provider, origin: 'operator' }), 'Acme Trust');
  t.is(shownTitle({ ...provider, origin: 'organization' }), 'Acme Trust (remote.example.org)');
  const authorization = 'https://www.b\u00fccher.example';
  t.is(
    shownTitle({ ...provider, origin: 'organization', authorization }),
    'Acme Trust (www.xn--bcher-kva.example)',
  );
});
