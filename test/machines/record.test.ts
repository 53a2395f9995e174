import test from 'ava';
import { getInitialSnapshot, transition } from 'xstate';
import { recordMachine } from '../../machines/record.ts';

interface Shelf {
  readonly books: readonly string[];
}

type ShelfMessage = { readonly at: number } & (
  | { readonly type: 'ADD'; readonly book: string }
  | { readonly type: 'REMOVE' }
);

const asked: string[] = [];
const shelfMachine = recordMachine<Shelf, ShelfMessage>({
  id: 'shelf',
  state: 'Standing',
  context: (input) => input,
  created: 'Built.',
  changes: {
    ADD: ({ books }, { book }) => {
      asked.push(book);
      if (books.includes(book)) return undefined;
      return { context: { books: [...books, book] }, note: `${book} added.` };
    },
  },
  end: { state: 'Removed', endedBy: ['REMOVE'], lifetimeMs: 60_000 },
});
const built = getInitialSnapshot(shelfMachine, { books: ['A'] });

test('a message of a record changes the context, writes its line and is decided once', (t) => {
  asked.length = 0;
  const [next, actions] = transition(shelfMachine, built, { type: 'ADD', at: 1, book: 'B' });
  t.deepEqual(next.context, { books: ['A', 'B'] });
  t.deepEqual(
    actions.map(({ type, params }) => [type, params]),
    [['note', { message: 'B added.' }]],
  );
  t.deepEqual(asked, ['B']);
});

test('a record without a change keeps its snapshot, and writes nothing', (t) => {
  const [next, actions] = transition(shelfMachine, built, { type: 'ADD', at: 1, book: 'A' });
  t.is(next, built);
  t.deepEqual(actions, []);
});

test('a record ends by a message or at the end of its lifetime', (t) => {
  t.is(transition(shelfMachine, built, { type: 'REMOVE', at: 1 })[0].value, 'Removed');
  const timeout = { type: 'xstate.after.lifetime.shelf.Standing', at: 1 } as unknown as ShelfMessage;
  t.is(transition(shelfMachine, built, timeout)[0].value, 'Removed');
});
