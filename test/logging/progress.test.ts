import test from 'ava';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import { Progress } from '../../logging/progress.ts';

function progress(live: boolean) {
  const clock = new SimulatedClock();
  let written = '';
  const screen = {
    live,
    err: (text: string) => {
      written += text;
    },
  };
  return { clock, bar: new Progress('engine', screen, clock), written: () => written };
}

test('the progress of a benchmark on a terminal is a bar with rate and remaining time on one line', (t) => {
  const { clock, bar, written } = progress(true);
  bar.show('first', 0, 4);
  clock.advance(2000);
  bar.show('second', 1, 4);
  const drawn = written().split('\r\u001b[K').at(-1);
  t.is(drawn, 'engine [######..................] 1 of 4, 0.5/s, 6 s left: second');
  t.notRegex(written(), /\n/);
  bar.end();
  t.true(written().endsWith('\r\u001b[K'));
});

test('the progress of a benchmark elsewhere is a plain line at intervals', (t) => {
  const { clock, bar, written } = progress(false);
  for (let done = 0; done <= 100; done += 1) {
    bar.show('files', done, 100);
    clock.advance(1000);
  }
  bar.end();
  const lines = written().trimEnd().split('\n');
  t.is(lines.length, 11);
  t.is(lines[1], 'engine 10 of 100, 1/s, 90 s left: files'.replace('90 s', '2 min'));
  t.is(lines.at(-1), 'engine 100 of 100, 1/s: files');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  t.notRegex(written(), /[\r\u001b]/);
});
