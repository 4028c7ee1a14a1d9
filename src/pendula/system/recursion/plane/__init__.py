"""Fast path: trees and chains in the plane, for one state or for eight at a time."""
