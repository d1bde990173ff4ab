import { Link, Navigate } from '@tanstack/react-router';
import { SignedIn } from './SignedIn.js';

/** The start: the first of the member's projects. */
export function Projects() {
  return (
    <SignedIn>
      {({ projects: [first] }) =>
        first === undefined ? (
          <main className="narrow">
            <h1>No project yet</h1>
            <p>
              <code>npx engraft project create NAME</code> makes one; then reload this page.
            </p>
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
