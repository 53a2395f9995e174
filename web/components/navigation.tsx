/** Navigation at the side, in groups. */
import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';
import type { IconName } from './icons.ts';

export interface PageLink {
  readonly href: string;
  readonly text: string;
  readonly icon: IconName;
  readonly isCurrent: boolean;
  /** Entries behind the link. */
  readonly count?: number | undefined;
}

/** Links of the navigation under one name. */
export interface LinkGroup {
  readonly name: string;
  readonly links: readonly PageLink[];
}

/**
 * On narrow screens the menu shows and hides it, also without a script.
 * @param menu text of the menu; @param label name of the navigation; @param children below the links
 */
export function Navigation({
  groups,
  menu,
  label,
  children,
}: {
  groups: readonly LinkGroup[];
  menu: string;
  label: string;
  children?: ComponentChildren;
}) {
  return (
    <>
      <details class="menu">
        <summary>{menu}</summary>
      </details>
      <nav aria-label={label}>
        {groups.map(({ name, links }) => (
          <>
            <p class="muted">{name}</p>
            <ul aria-label={name}>
              {links.map(({ href, text, icon, isCurrent, count }) => (
                <li>
                  <a href={href} aria-current={isCurrent ? 'page' : undefined}>
                    <Icon name={icon} />
                    <span class="grow cut">{text}</span>
                    {count !== undefined && <span class="small">{count}</span>}
                  </a>
                </li>
              ))}
            </ul>
          </>
        ))}
        {children}
      </nav>
    </>
  );
}
