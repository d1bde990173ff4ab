import { createRootRoute, createRoute, createRouter, Outlet } from '@tanstack/react-router';
import { AuditLog } from './pages/AuditLog.js';
import { Credits } from './pages/Credits.js';
import { JobPage } from './pages/JobPage.js';
import { Jobs } from './pages/Jobs.js';
import { Keys } from './pages/Keys.js';
import { Members } from './pages/Members.js';
import { Model } from './pages/Model.js';
import { NoPage, Projects } from './pages/Projects.js';
import { Playground } from './pages/Playground.js';
import { Settings } from './pages/Settings.js';
import { SetUp } from './pages/SetUp.js';
import { Shell } from './pages/Shell.js';
import { Subjects } from './pages/Subjects.js';

const root = createRootRoute({ component: Outlet, notFoundComponent: NoPage });
const setUp = createRoute({ getParentRoute: () => root, path: '/setup', component: SetUp });
const home = createRoute({ getParentRoute: () => root, path: '/', component: Projects });
const project = createRoute({ getParentRoute: () => root, path: '/p/$project', component: Shell });
const pages = [
  createRoute({ getParentRoute: () => project, path: '/', component: Playground }),
  createRoute({ getParentRoute: () => project, path: '/subjects', component: Subjects }),
  createRoute({ getParentRoute: () => project, path: '/jobs', component: Jobs }),
  createRoute({ getParentRoute: () => project, path: '/jobs/$job', component: JobPage }),
  createRoute({ getParentRoute: () => project, path: '/keys', component: Keys }),
  createRoute({ getParentRoute: () => project, path: '/credits', component: Credits }),
  createRoute({ getParentRoute: () => project, path: '/members', component: Members }),
  createRoute({ getParentRoute: () => project, path: '/audit', component: AuditLog }),
  createRoute({ getParentRoute: () => project, path: '/model', component: Model }),
  createRoute({ getParentRoute: () => project, path: '/settings', component: Settings }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([home, setUp, project.addChildren(pages)]),
  basepath: '/console',
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
