import test from 'ava';
import { accepted, faultyKeys, load } from './load.ts';

test('log files are below the root unless configured elsewhere', (t) => {
  const path = (...argv: string[]) => accepted({ argv }).logging.file.path;
  t.is(path(), '/srv/app/data/logs/batch-.log');
  t.is(path('--Storage:Root=/var/lib/sealwright'), '/var/lib/sealwright/logs/batch-.log');
  t.is(
    path('--Storage:Root=/var/lib/sealwright', '--Logging:File:Path=data/logs/own-.log'),
    '/var/lib/sealwright/logs/own-.log',
  );
  t.is(path('--Logging:File:Path=logs/own-.log'), '/srv/app/logs/own-.log');
  t.is(path('--Logging:File:Path=/var/log/sealwright/batch-.log'), '/var/log/sealwright/batch-.log');
});

test('a service without any log output is refused', (t) => {
  const argv = ['--Logging:File:Enabled=false', '--Logging:File:WriteToConsole=false'];
  t.deepEqual(faultyKeys({ argv }), ['Logging:File:Enabled']);
  t.deepEqual(load({ argv: argv.slice(0, 1) }).warnings, []);
  t.deepEqual(load({ argv: argv.slice(1) }).warnings, []);
});

test('log files inside an input folder are refused', (t) => {
  t.deepEqual(faultyKeys({ argv: ['--Logging:File:Path=data/input/batch-.log'] }), ['Logging:File:Path']);
});

for (const [key, values] of [
  ['RollingInterval', ['Week', '']],
  ['FileSizeLimitBytes', ['65535', '10737418241']],
  ['RetainedFileCountLimit', ['0', '366']],
  ['MinimumLevel', ['Trace']],
  ['Path', ['logs/']],
] as const) {
  test(`Logging:File:${key} is validated`, (t) => {
    for (const value of values)
      t.deepEqual(faultyKeys({ argv: [`--Logging:File:${key}=${value}`] }), [`Logging:File:${key}`], value);
  });
}
