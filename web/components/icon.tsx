/** An icon beside a text. It is decoration: the text says the same. */
import { ICONS, type IconName } from './icons.ts';

/** @param size `s` 15 px, `l` 30 px. @default 18 px */
export function Icon({ name, size }: { name: IconName; size?: 's' | 'l' | undefined }) {
  return (
    <svg
      class={size === undefined ? 'icon' : `icon ${size}`}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      dangerouslySetInnerHTML={{ __html: ICONS[name] }}
    />
  );
}
