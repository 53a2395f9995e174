/** Shows each time in its content as a distance from now, in the language of the page. */
import type { ComponentChildren } from 'preact';
import { Clock, Locale, Mode } from '../../../components/time.tsx';

/** @param now milliseconds, by the service's clock */
export function RelativeTimes({
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
