/** The views of one namespace, by the end of their path. */
export const tabs = [
  { path: '', title: 'Overview' },
  { path: 'objects', title: 'Objects' },
  { path: 'access', title: 'Access' },
  { path: 'events', title: 'Events' },
  { path: 'delete', title: 'Delete' },
] as const

export type TabPath = (typeof tabs)[number]['path']

export const isTabPath = (path: string): path is TabPath => tabs.some((tab) => tab.path === path)
