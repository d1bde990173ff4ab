import { Link, Navigate } from '@tanstack/react-router';
import { NewProject } from './NewProject.js';
import { SignedIn } from './SignedIn.js';

/** The start: the first of the member's projects. */
export function Projects() {
  return (
    <SignedIn>
      {({ projects: [first], is_operator }) =>
        first === undefined ? (
          <main className="narrow">
            <h1>No project yet</h1>
            {is_operator ? <NewProject /> : <p>Ask an owner to invite you to a project, then reload this page.</p>}
          </main>
        ) : (
          <Navigate to="/p/$project" params={{ project: first.id }} replace />
        )
      }
    </SignedIn>
  );
}

export function NoPage() {
  return (
    <main className="narrow">
      <h1>There is no such page</h1>
      <p>
        <Link to="/">Go to the start</Link>
      </p>
    </main>
  );
}
