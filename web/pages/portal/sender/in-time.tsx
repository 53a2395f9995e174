/** Times below it: distances from now, in the language of the page. */
import type { ComponentChildren } from 'preact';
import { Clock, Locale, Mode } from '../../../components/time.tsx';

/** @param now milliseconds, by the service's clock */
export function InTime({
  language,
  now,
  children,
}: {
  language: string;
  now: number;
  children: ComponentChildren;
}) {
  return (
    <Locale.Provider value={language}>
      <Mode.Provider value="relative">
        <Clock.Provider value={now}>{children}</Clock.Provider>
      </Mode.Provider>
    </Locale.Provider>
  );
}
