/** What `verify --online` asks with; loaded only then. */
import { createAuthorityTransport } from '../actors/index.ts';
import { createEvidenceSource } from '../crypto/index.ts';
import type { Clock } from '../runtime/index.ts';
import type { AskOnline } from './verify.ts';

export function askOnline(clock: Clock): AskOnline {
  const transport = createAuthorityTransport({ clock });
  return ({ anchors, intermediates }) =>
    createEvidenceSource({
      anchors,
      intermediates,
      allowAia: false,
      transport,
      now: () => clock.now(),
      wait: (ms) => clock.sleep(ms),
      cacheMinutes: 60,
      timeoutMs: 5_000,
      retries: 1,
    });
}
