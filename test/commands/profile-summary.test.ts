import test from 'ava';
import { profileSummaries, summaryText } from '../../commands/check-config.ts';
import { accepted } from '../settings/load.ts';

const lines = (...words: readonly string[]) => profileSummaries(accepted({ argv: words })).map(summaryText);

test('check-config lists the default profile when none is declared', (t) => {
  t.deepEqual(lines(), [
    'default: format by extension, level B, signed here (Development), verified, certificate validated',
  ]);
});

test('check-config lists each declared profile with its waived safeguards', (t) => {
  const said = lines(
    '--Signing:Profiles:0:Name=one',
    '--Signing:Profiles:0:Format=Pades',
    '--Signing:Profiles:0:Level=LT',
    '--Signing:Profiles:0:Timestamp:Url=http://tsa.example.org',
    '--Signing:Profiles:0:Certificate:Pfx:Path=/etc/one.pfx',
    '--Signing:Profiles:0:Certificate:Pfx:Password=never shown',
    '--Signing:Profiles:1:Name=two',
    '--Signing:Profiles:1:Format=Cades',
    '--Signing:Profiles:1:Method=RemoteSigner',
    '--Signing:Profiles:1:Verify=false',
    '--Signing:Profiles:1:RemoteSigner:Name=Ann',
    '--Signing:Profiles:1:RemoteSigner:Email=ann@example.org',
    '--Signing:Profiles:1:RemoteSigner:Identifier=12345678909',
    '--RemoteSigner:Endpoint=https://portal.example.org',
    '--RemoteSigner:ApiKey=app|secret',
  );
  t.deepEqual(said, [
    'one: Pades, level LT, signed here (Pfx /etc/one.pfx), verified, certificate validated',
    'two: Cades, signed on the remote portal, not verified',
  ]);
});
