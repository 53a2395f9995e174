/** Brings the islands of a page to life; `Island` of web/components has rendered them. */
import { type ComponentType, hydrate, render, type VNode } from 'preact';

/** Components by the name that their place on the page has. */
type Islands = Readonly<Record<string, ComponentType<never>>>;

export function hydrateIslands(components: Islands, inside: ParentNode = document): void {
  for (const place of inside.querySelectorAll<HTMLElement>('[data-island]:not([data-live])')) {
    const content = contentOf(components, place);
    if (content === undefined) continue;
    hydrate(content, place);
    place.dataset['live'] = '';
    place.hidden = false;
  }
}

/** Moves a live island into a newer page, which is shown next, and draws it with the properties that it has there. */
export function keepIsland(components: Islands, name: string, newer: ParentNode): void {
  const place = `[data-island="${name}"]`;
  const live = document.querySelector<HTMLElement>(`${place}[data-live]`);
  const next = newer.querySelector<HTMLElement>(place);
  const content = next === null ? undefined : contentOf(components, next);
  if (live === null || content === undefined) return;
  render(content, live);
  next?.replaceWith(live);
}

function contentOf(components: Islands, { dataset }: HTMLElement): VNode | undefined {
  const Component = components[dataset['island'] ?? ''] as ComponentType<object> | undefined;
  return Component && <Component {...(JSON.parse(dataset['props'] ?? '{}') as object)} />;
}
