/**
 * Puts the name of a test file before the titles of its tests, for files that share a process.
 *
 * @param turns missing: tests of all files run together, as ava runs those of one
 */
export function named(test, file, turns) {
  const titled =
    (declare, wrapped = (body) => body) =>
    (title, ...rest) => {
      // A macro brings its own title.
      if (typeof title !== 'string')
        return titled(declare, wrapped)(title.title?.(undefined, ...rest) ?? '', title, ...rest);
      const [body, ...values] = rest;
      return declare(`${file} › ${title}`, wrapped(body?.exec ?? body), ...values);
    };
  if (turns !== undefined) {
    const after = (hook) => turns.hooksOf(file).after.push(hook);
    const skip = titled(test.skip);
    return Object.assign(titled(test, turns.wrapper(file, false)), {
      skip,
      serial: Object.assign(titled(test, turns.wrapper(file, true)), { skip }),
      before: (hook) => turns.hooksOf(file).before.push(hook),
      after: Object.assign(after, { always: after }),
    });
  }
  const wrap = (one) =>
    new Proxy(titled(one), {
      get: (_, name) => (['serial', 'failing', 'skip', 'only'].includes(name) ? wrap(one[name]) : one[name]),
    });
  return wrap(test);
}

/**
 * Lets the files of a process run one after the other, each as it would by itself: hooks, serial tests, then the other
 * tests together. Without this all their services would start at once.
 */
class Turns {
  #files = new Map();
  #waiting = [];
  #running = [];
  #isAsked = false;

  hooksOf(file) {
    if (!this.#files.has(file)) this.#files.set(file, { before: [], after: [], context: {} });
    return this.#files.get(file);
  }

  wrapper(file, isSerial) {
    return (body) =>
      async (t, ...values) => {
        const hooks = this.hooksOf(file);
        const own = await new Promise((go) => {
          this.#waiting.push({ file, isSerial, go });
          this.#ask();
        });
        try {
          hooks.ready ??= runAll(hooks.before, hooks);
          await hooks.ready;
          if (Object.keys(hooks.context).length > 0) t.context = hooks.context;
          return await body(t, ...values);
        } finally {
          // The last test of the file ends with its hooks: ava ends the process after the last test of all.
          if (this.#running.length === 1 && !this.#waiting.some((one) => one.file === file)) {
            await runAll(hooks.after, hooks);
            // test/project/times.ts records what it cost.
            process.emit('test-file-ended', file);
          }
          this.#running.splice(this.#running.indexOf(own), 1);
          this.#ask();
        }
      };
  }

  /** The tests that ava runs wait when the event loop turns; those that a pattern leaves out never do. */
  #ask() {
    if (this.#isAsked) return;
    this.#isAsked = true;
    setImmediate(() => {
      this.#isAsked = false;
      this.#start();
    });
  }

  #start() {
    const [current = this.#waiting[0]] = this.#running;
    const own = this.#waiting.filter(({ file }) => file === current?.file);
    const serial = own.find(({ isSerial }) => isSerial);
    const isBusy = this.#running.length > 0 && (serial !== undefined || current.isSerial);
    if (isBusy) return;
    const starting = serial === undefined ? own : [serial];
    this.#waiting = this.#waiting.filter((one) => !starting.includes(one));
    this.#running.push(...starting);
    for (const one of starting) one.go(one);
  }
}

async function runAll(hooks, t) {
  for (const hook of hooks) await hook(t);
}

/** Those of this process. */
export const turns = new Turns();
